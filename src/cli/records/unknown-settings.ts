import { type ConfigTree, listAssignments } from '../input/config-path.ts';
import { nearNames } from './near-names.ts';

const lastPart = (key: string) => key.slice(key.lastIndexOf('.') + 1).toLowerCase();
const lettersOf = (text: string) => [...text].sort().join('');

/** Whether a short word is another one with one letter changed, or with its letters swapped. */
async function isSlip(typed: string, known: string): Promise<boolean> {
  const { default: leven } = await import('leven');
  const [one, other] = [lastPart(typed), lastPart(known)];
  return one.length > 5 || leven(one, other) <= 1 || lettersOf(one) === lettersOf(other);
}

/**
 * Returns a sentence about each setting of a config that resembles a well-known one, and about each
 * of `player` that the web player does not know. Any other name may be a setting of a TV app.
 */
export async function unknownSettings(config: ConfigTree): Promise<string[]> {
  const { defaultConfig, playerSettings } = await import('../../domain/records/config.ts');
  const ofPlayer = Object.keys(playerSettings.shape);
  const known = [
    ...listAssignments(defaultConfig).map(({ key }) => key),
    ...ofPlayer.map((name) => `player.${name}`),
  ].map((name) => ({ name }));
  const sentences: string[] = [];
  for (const { key } of listAssignments(config)) {
    const [near] = known.some(({ name }) => name === key)
      ? [{ name: key }]
      : await nearNames(key, known);
    if (near?.name === key) continue;
    if (near && (await isSlip(key, near.name)))
      sentences.push(`TVs know no setting "${key}". Did you mean "${near.name}"?`);
    else if (key.startsWith('player.'))
      sentences.push(`The web player knows no setting "${key}". It is kept for other TV apps.`);
  }
  return sentences;
}
