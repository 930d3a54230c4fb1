/** The 31 characters of codes, without the easily confused `0 O 1 I L` (docs/protocol.md §4). */
export const codeAlphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
