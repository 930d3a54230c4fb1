import { texts } from './texts.ts';

/** What one probe of `/player#check` has found. */
export interface Finding {
  /** For people. */
  text: string;
  /** Whether it is as it should be. `undefined`: it is only said. */
  isGood?: boolean | undefined;
  /** Words `name=value` of the line to copy. */
  words: string;
  /** Members of the `player_report` (docs/protocol.md §2.5). */
  report?: object;
}

export const yesOrNo = (is: boolean | undefined) =>
  is === undefined ? 'unknown' : is ? 'yes' : 'no';

/** Returns the finding about a question with yes or no, of which yes is good. */
export function verdict(
  row: 'pictures' | 'pages' | 'sound',
  member: string,
  isGood: boolean | undefined,
): Finding {
  return {
    text: isGood === undefined ? texts.unknown : texts[`${row}${isGood ? 'Yes' : 'No'}`],
    isGood,
    words: `${member}=${yesOrNo(isGood)}`,
    report: { [member]: isGood },
  };
}
