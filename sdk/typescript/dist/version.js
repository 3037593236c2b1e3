/** The version of the package. It equals that of package.json. */
export const VERSION = "0.1.0";
