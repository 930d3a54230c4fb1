const maxWidth = 100;

/** A word, or a code span or link, neither of which may be split. */
const unit = /(?:`[^`]*`|\[(?:[^[\]`]|`[^`]*`)*\]\([^)\s]*\)|[^\s`[]|\[|`)+/g;

/** Wraps one paragraph. `first` stands before its first line, `indent` before the others. */
function wrapParagraph(text: string, first: string, indent: string): string {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const [word] of text.matchAll(unit)) {
    if (!isEmpty && [...line].length + 1 + [...word].length > maxWidth) {
      lines.push(line);
      line = indent + word;
    } else line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line].join('\n');
}

/** Wraps the prose of a Markdown page at 100 columns. Tables and code blocks stay as they are. */
export function wrapMarkdown(page: string): string {
  const result: string[] = [];
  let paragraph: { text: string; first: string; indent: string } | undefined;
  let isCode = false;
  const endParagraph = () => {
    if (paragraph) result.push(wrapParagraph(paragraph.text, paragraph.first, paragraph.indent));
    paragraph = undefined;
  };
  for (const line of page.split('\n')) {
    const isFence = line.trimStart().startsWith('```');
    if (isCode || isFence || /^\s*($|[#|<])/.test(line)) {
      endParagraph();
      if (isFence) isCode = !isCode;
      result.push(line);
      continue;
    }
    const [first] = /^\s*(?:[-*]|\d+\.)\s+/.exec(line) ?? [];
    if (first !== undefined) {
      endParagraph();
      paragraph = { text: line.slice(first.length), first, indent: ' '.repeat(first.length) };
    } else if (paragraph) paragraph.text += ` ${line.trim()}`;
    else paragraph = { text: line.trim(), first: '', indent: '' };
  }
  endParagraph();
  return result.join('\n');
}
