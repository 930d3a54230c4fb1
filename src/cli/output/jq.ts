import { usage } from '../options/settings.ts';
import { escapeControl, printableWithTabs } from '../terminal/escape.ts';

/** Formats one result of jq: strings without quotes, everything else as compact JSON. */
function shown(line: string): string {
  return line.startsWith('"') ? printableWithTabs(JSON.parse(line) as string) : escapeControl(line);
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
  if (exitCode !== 0) {
    const reason = stderr.split('\n', 1)[0]?.replace(/^jq: error(?: \(at [^)]*\))?:? ?/, '') ?? '';
    throw usage(`--jq failed: ${reason || `jq ended with ${exitCode}`}`);
  }
  return stdout === '' ? [] : stdout.split('\n').map(shown);
}
