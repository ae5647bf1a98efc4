/**
 * Lets the page that is shown in place of a missing one look as the settings say.
 */

import { wear } from "./settings.js";

wear();
