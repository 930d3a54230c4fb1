import { escapeControl } from '../terminal/escape.ts';
import type { TestCase } from './view.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/**
 * Escapes a text for XML. Also escapes control characters, because XML 1.0 cannot represent most of
 * them.
 */
const xml = (text: string) =>
  escapeControl(text).replaceAll(/[&<>"]/g, (character) => entities[character] as string);

function caseXml({ name, group, failure, skipped }: TestCase): string {
  const attributes = `classname="${xml(group)}" name="${xml(name)}"`;
  if (failure !== undefined)
    return `  <testcase ${attributes}><failure message="${xml(failure)}"/></testcase>`;
  if (skipped !== undefined)
    return `  <testcase ${attributes}><skipped message="${xml(skipped)}"/></testcase>`;
  return `  <testcase ${attributes}/>`;
}

/** Returns a report in JUnit XML, which most CI systems read. */
export function junitXml(cases: readonly TestCase[]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const counts = `tests="${cases.length}" failures="${failures}" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="signage" ${counts}>`,
    ...cases.map(caseXml),
    '</testsuite>\n',
  ].join('\n');
}
