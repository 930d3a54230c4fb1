import { type Hours, parseHours } from '../../domain/hours/hours-text.ts';
import { usage } from './settings.ts';

export const hoursForm = '"mon-fri 08:00-18:00, sat+sun 10:00-02:00"';

/** Reads `--hours`. An empty text is `null`. */
export function readHours(text: string | undefined): Hours | null | undefined {
  if (text === undefined) return undefined;
  if (text === '') return null;
  const hours = parseHours(text);
  if (!hours) throw usage(`--hours must be such as ${hoursForm}, or always, not "${text}".`);
  return hours;
}
