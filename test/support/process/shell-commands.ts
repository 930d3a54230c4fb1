/** A command line of a page: its words, as a shell would pass them on. */
export interface PageCommand {
  path: string;
  line: number;
  words: readonly string[];
}

const shells = /^(?:sh|bash|console|text|)$/;
const program = /^(?:\S*\/)?signage(?:\.js)?$/;

/** Ends a simple command. */
const operator = /^(?:\|\||&&|[|;&()])/;
const redirection = /^\d*(?:>>|>&|<<<|>|<)\s*(?:&?\d|[^\s|;&<>()"']+|"[^"]*"|'[^']*')?/;

/**
 * Splits a line of a shell into its simple commands, also those in `$(…)`. Variables become words
 * of their names: only `signage` reads the result, and it is never run.
 */
export function simpleCommands(line: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  let rest = line;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  const take = (length: number) => {
    const taken = rest.slice(0, length);
    rest = rest.slice(length);
    return taken;
  };
  /** Reads `$(…)` or a variable. */
  const expand = () => {
    const inner = /^[$<]\(((?:[^()]|\([^()]*\))*)\)/.exec(rest);
    const found = inner ?? /^\$\{[^}]*\}|^\$[\w@?!]+/.exec(rest);
    if (inner && !inner[0].startsWith('$((')) commands.push(...simpleCommands(inner[1] ?? ''));
    take(found?.[0].length ?? 1);
    word = `${word ?? ''}x`;
  };
  while (rest !== '') {
    if (/^\s/.test(rest)) {
      endWord();
      take(1);
    } else if (word === undefined && rest.startsWith('#')) break;
    else if (/^<\(/.test(rest) || rest.startsWith('$')) expand();
    else if (redirection.test(rest)) {
      endWord();
      take(redirection.exec(rest)?.[0].length ?? 1);
    } else if (operator.test(rest)) {
      endCommand();
      take(operator.exec(rest)?.[0].length ?? 1);
    } else if (rest.startsWith("'")) {
      const end = rest.indexOf("'", 1);
      if (end < 0) break;
      word = `${word ?? ''}${take(end + 1).slice(1, -1)}`;
    } else if (rest.startsWith('"')) {
      take(1);
      word ??= '';
      while (rest !== '' && !rest.startsWith('"')) {
        if (rest.startsWith('$')) expand();
        else if (rest.startsWith('\\')) word += take(2).slice(1);
        else word += take(1);
      }
      take(1);
    } else if (rest.startsWith('\\')) word = `${word ?? ''}${take(2).slice(1)}`;
    else word = `${word ?? ''}${take(1)}`;
  }
  endCommand();
  return commands;
}

const isAssignment = (word: string) => /^[A-Za-z_]\w*=/.test(word);
/** Words before a command that only say how it is run. `make` is a function of docs/runbook.md. */
const before = /^(?:if|then|do|else|while|!|exec|sudo|npx|env|time|nice|node|local|docker)$/;

/** Returns the arguments of `signage`, if the command runs it. */
function ofSignage(words: readonly string[]): readonly string[] | undefined {
  const at = words.findIndex((word) => program.test(word));
  if (at < 0) return undefined;
  const leading = words.slice(0, at);
  const isRun = leading.every(
    (word) =>
      isAssignment(word) ||
      before.test(word) ||
      word.startsWith('--v8-') ||
      word.startsWith('--initial-'),
  );
  const isMade = leading[0] === 'make' && leading.length === 2;
  return isRun || isMade ? words.slice(at + 1) : undefined;
}

/** Returns each call of `signage` in the code blocks of a page. */
export function signageCommands({ path, text }: { path: string; text: string }): PageCommand[] {
  const found: PageCommand[] = [];
  let fence: string | undefined;
  let pending = '';
  for (const [index, given] of text.split('\n').entries()) {
    const open = /^\s*```(\w*)/.exec(given);
    if (open) fence = fence === undefined ? (open[1] ?? '') : undefined;
    if (open || fence === undefined || !shells.test(fence)) continue;
    const line = `${pending}${given.replace(/^\s*\$ /, '')}`;
    pending = line.endsWith('\\') ? line.slice(0, -1) : '';
    if (pending !== '') continue;
    // A line of a crontab begins with its times and its user.
    const shown = line.replace(/^(?:[\d*/,-]+\s+){5}\S+\s+/, '');
    // A synopsis, a layout of files and output are no command lines.
    if (/^\s*#|\[options\]|^bin\/signage\.js {2}|^signage TV /.test(shown)) continue;
    for (const words of simpleCommands(shown)) {
      const own = ofSignage(words);
      if (own) found.push({ path, line: index + 1, words: own });
    }
  }
  return found;
}
