import { escapeControl, isPrintable } from '../terminal/escape.ts';

/**
 * Formats a value as YAML. Strings with control characters are double-quoted, which escapes them.
 */
export async function yamlText(value: unknown): Promise<string> {
  const { Document, visit } = await import('yaml');
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && !isPrintable(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString({
    lineWidth: 0,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
  return text.split('\n').map(escapeControl).join('\n');
}
