/** Ids of the parts of the exam, in the order in which the parts begin. */
export const partIds = [
  'register',
  'playlist',
  'config',
  'events',
  'changes',
  'network',
  'power',
  'revoke',
] as const;
export type PartId = (typeof partIds)[number];
