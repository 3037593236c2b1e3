/** What a tool says about an earlier call whose outcome is unknown. */
export {};
