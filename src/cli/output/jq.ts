import { usage } from '../options/settings.ts';
import { escapeControl, printableWithTabs } from '../terminal/escape.ts';

/** One result of jq for a line: texts bare, but for what a terminal would obey; all else as compact JSON. */
function shown(line: string): string {
  return line.startsWith('"') ? printableWithTabs(JSON.parse(line) as string) : escapeControl(line);
}

/**
 * Passes a value through a jq expression; answers the lines of its results. Throws `usage` with what jq says.
 *
 * jq itself, as WebAssembly; it sees no file, and of the environment only names that it makes up.
 */
export async function applyJq(value: unknown, expression: string): Promise<string[]> {
  const { raw } = await import('jq-wasm');
  // Parentheses, lest an expression that begins with a dash be taken for a flag; the line break ends a comment.
  const { stdout, stderr, exitCode } = await raw(JSON.stringify(value), `(${expression}\n)`, [
    '-c',
  ]);
  if (exitCode !== 0) {
    const said = stderr.split('\n', 1)[0]?.replace(/^jq: error(?: \(at [^)]*\))?:? ?/, '') ?? '';
    throw usage(`--jq failed: ${said || `jq ended with ${exitCode}`}`);
  }
  return stdout === '' ? [] : stdout.split('\n').map(shown);
}
