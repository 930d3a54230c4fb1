import { parseSelector } from '../../domain/selector.ts';
import * as option from './option.ts';
import { type Setting, usage } from './settings.ts';

/**
 * Makes the option `--selector`. All given selectors must match. Reading a malformed selector
 * throws `usage`.
 */
export function selectorOption(help: string): Setting<readonly string[]> {
  return {
    ...option.repeated('--selector <selector>', help),
    read(text, source) {
      checkSelector(text, source);
      return [text];
    },
  };
}

function checkSelector(text: string, source: string): void {
  try {
    parseSelector(text);
  } catch (error) {
    throw usage(
      `${source} "${text}": ${(error as Error).message}.`,
      "For example: --selector 'role=menu,city in (Accra,Kumasi),floor!=2,!test,venue:region=north'",
    );
  }
}
