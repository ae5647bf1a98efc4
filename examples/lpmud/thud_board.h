/*
 * The gateway's address, and this MUD's name and secret there: set these to your own.
 *
 * Both files include this one by its name alone: put it where the driver looks for headers, such as
 * /include, or beside each of them.
 */

#define THUD_ADDRESS "127.0.0.1 8484"
#define THUD_CLIENT "my-mud"
#define THUD_SECRET "the one in the gateway's config.toml"
#define THUD_GATEWAY "/obj/handlers/thud_gateway"

/* If the mudlib's add_command() takes patterns, as Discworld's does:
#define THUD_PATTERNS
*/
