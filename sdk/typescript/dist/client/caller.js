/** The part of a client that code under test needs: find tools and call them. */
export {};
