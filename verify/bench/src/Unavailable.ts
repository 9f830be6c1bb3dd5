/** What a contender needs is not on this machine. The message says what, and how to have it. */
export class Unavailable extends Error {}
