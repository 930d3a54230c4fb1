/** What a TV does once it has its code, in this order; the last of them makes the pairing. */
export const stages = ['registered', 'playlist', 'event'] as const;
export type Stage = (typeof stages)[number];
