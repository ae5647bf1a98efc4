/* Where the gateway is, and who this MUD is to it: make these yours. */

#define THUD_ADDRESS "127.0.0.1 8484"
#define THUD_CLIENT "my-mud"
#define THUD_SECRET "the one in the gateway's config.toml"
#define THUD_GATEWAY "/obj/handlers/thud_gateway"

/* If the library's add_command() takes patterns, as Discworld's does:
#define THUD_PATTERNS
*/
