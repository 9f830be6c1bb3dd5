/**
 * Raised if something that a contender requires is not available on this machine. The message says what it is and how
 * to obtain it.
 */
export class Unavailable extends Error {}
