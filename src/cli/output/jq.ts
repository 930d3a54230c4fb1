import { usage } from '../input/settings.ts';
import { escapeControl, printableWithTabs } from '../terminal/escape.ts';

/** Formats one result of jq: strings without quotes, everything else as compact JSON. */
function shown(line: string): string {
  return line.startsWith('"') ? printableWithTabs(JSON.parse(line) as string) : escapeControl(line);
}

const maxReasonLength = 200;

/**
 * Returns the reason of an error of jq, without the prefix and the position. The position is wrong,
 * because it counts the parentheses that `applyJq` adds.
 */
function reasonOf(stderr: string, expression: string): string {
  const [line = ''] = stderr.split('\n', 1);
  const text = line.replace(/^jq: error(?: \(at [^)]*\))?:? ?/, '');
  const [place = '', lineNumber] = / at <top-level>, line (\d+), column \d+:?$/.exec(text) ?? [];
  if (Number(lineNumber) > expression.split('\n').length)
    return 'the expression is incomplete, or has an extra bracket';
  const reason = text.slice(0, text.length - place.length).trim();
  if (reason.length > maxReasonLength) return `${reason.slice(0, maxReasonLength)}…`;
  return reason || 'the expression ended with an error without a message';
}

/**
 * Evaluates a jq expression and returns its results as lines. Throws `usage` with the message of
 * jq. jq runs as WebAssembly, without access to files or to the environment of this process.
 */
export async function applyJq(value: unknown, expression: string): Promise<string[]> {
  const { raw } = await import('jq-wasm');
  // Without the parentheses, jq would take an expression such as -1 for a flag. The line break ends
  // a comment in the expression.
  const { stdout, stderr, exitCode } = await raw(JSON.stringify(value), `(${expression}\n)`, [
    '-c',
  ]);
  if (exitCode !== 0) throw usage(`--jq failed: ${reasonOf(stderr, expression)}.`);
  return stdout === '' ? [] : stdout.split('\n').map(shown);
}
