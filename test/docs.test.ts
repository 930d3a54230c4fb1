// Checks the Markdown pages: links, widths, and the paths of files that they name.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const maxWidth = 100;

type Page = { path: string; text: string };

/** Blanks the lines of code blocks, so that line numbers stay right. */
function withoutCode(text: string): string {
  let isCode = false;
  const lines = text.split('\n').map((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    return isCode || isFence ? '' : line;
  });
  return lines.join('\n');
}

/** Returns the anchors of a page as GitHub makes them. */
function anchors(text: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
    const slug = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** Returns the dead relative links. `read` returns `undefined` for a missing file. */
function deadLinks({ path, text }: Page, read: (path: string) => string | undefined): string[] {
  const prose = withoutCode(text).replace(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = '']) => link);
  const relative = links.filter((link) => !/^[a-z]+:/.test(link));
  const dead = relative.filter((link) => {
    const [file = '', anchor] = link.split('#');
    const target = read(file === '' ? path : posix.join(posix.dirname(path), file));
    if (target === undefined) return true;
    return anchor !== undefined && !anchors(target).includes(anchor);
  });
  return dead.map((link) => `${path}: ${link}`);
}

/** Returns the lines of prose that are too wide. Tables, code and single links are exempt. */
function wideLines({ path, text }: Page): string[] {
  return withoutCode(text)
    .split('\n')
    .map((line, index) => ({ line, at: `${path}:${index + 1}` }))
    .filter(({ line }) => [...line].length > maxWidth)
    .filter(({ line }) => !/^\s*(\||<!--|([-*] )?\[[^\]]*\]\([^)]*\)\S*$)/.test(line))
    .map(({ at }) => at);
}

/** Returns the missing files in code spans, relative to the checkout, `src/` or `src/cli/`. */
function missingFiles({ path, text }: Page, exists: (path: string) => boolean): string[] {
  const spans = [...withoutCode(text).matchAll(/`([\w@./-]+\/[\w@.-]+\.(?:ts|js|md|json))`/g)];
  const files = spans.map(([, file = '']) => file);
  return files
    .filter((file) => !['', 'src/', 'src/cli/'].some((folder) => exists(folder + file)))
    .map((file) => `${path}: ${file}`);
}

describe('the Markdown pages', () => {
  const read = (path: string) => {
    if (!existsSync(root + path)) return undefined;
    return path.endsWith('.md') ? readFileSync(root + path, 'utf8') : '';
  };
  const inDocs = readdirSync(`${root}docs`).filter((name) => name.endsWith('.md'));
  const paths = [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...inDocs.map((name) => `docs/${name}`),
    'docs/decisions/README.md',
  ];
  const decisions = readdirSync(`${root}docs/decisions`).map((name) => `docs/decisions/${name}`);
  const pages = [...new Set([...paths, ...decisions])].map((path) => ({
    path,
    text: read(path) ?? '',
  }));

  it('have no dead links', () =>
    expect(pages.flatMap((page) => deadLinks(page, read))).toEqual([]));

  it(`have no prose over ${maxWidth} columns, except the generated docs/cli.md`, () => {
    const written = pages.filter(({ path }) => path !== 'docs/cli.md');
    expect(written.flatMap(wideLines)).toEqual([]);
  });

  it('name only files that exist, in README and CONTRIBUTING', () => {
    const named = pages.filter(({ path }) => ['README.md', 'CONTRIBUTING.md'].includes(path));
    const exists = (path: string) => existsSync(root + path);
    expect(named.flatMap((page) => missingFiles(page, exists))).toEqual([]);
  });

  it.each(['README.md', 'CONTRIBUTING.md'])(
    'list every folder of src in the layout of %s',
    (path) => {
      const [, layout = ''] = /^## Layout\n\n```\n(.*?)^```$/ms.exec(read(path) ?? '') ?? [];
      const entries = readdirSync(`${root}src`, { withFileTypes: true });
      const missing = entries.filter(
        (one) => one.isDirectory() && !layout.includes(` ${one.name}/`),
      );
      expect(missing.map(({ name }) => name)).toEqual([]);
    },
  );

  it('have valid YAML examples', () => {
    const examples = pages.flatMap(({ text }) => [...text.matchAll(/^```yaml\n(.*?)^```$/gms)]);
    expect(examples.length).toBeGreaterThan(1);
    for (const [, example = ''] of examples)
      for (const { errors } of parseAllDocuments(example)) expect(errors).toEqual([]);
  });

  it('are all linked from README', () => {
    const readme = read('README.md') ?? '';
    expect(paths.slice(1).filter((path) => !readme.includes(`](${path})`))).toEqual([]);
    const index = read('docs/decisions/README.md') ?? '';
    const records = decisions.map((path) => path.replace('docs/decisions/', ''));
    expect(records.filter((name) => !`${index}](README.md)`.includes(`](${name})`))).toEqual([]);
  });
});

describe('the checks of Markdown pages', () => {
  const files: Record<string, string> = {
    'docs/a.md': '# A `b` c\n\n## Same\n\n## Same\n\n```sh\n# Not a heading\n```\n',
    'docs/file.json': '',
  };
  const dead = (text: string) => deadLinks({ path: 'docs/x.md', text }, (path) => files[path]);

  it.each([
    ['[a](a.md)', []],
    ['[a](a.md#a-b-c)', []],
    ['[a](a.md#same-1)', []],
    ['[a](../docs/file.json)', []],
    ['[a](https://example.com/b.md)', []],
    ['`[a](b.md)`', []],
    ['```\n[a](b.md)\n```', []],
    ['[a](b.md)', ['docs/x.md: b.md']],
    ['[a](a.md#not-a-heading)', ['docs/x.md: a.md#not-a-heading']],
    ['[a](#b)', ['docs/x.md: #b']],
  ])('find the dead links in: %s', (text, links) => {
    files['docs/x.md'] = text;
    expect(dead(text)).toEqual(links);
  });

  it('find wide prose, but no tables, code or links', () => {
    const wide = 'x'.repeat(101);
    const text = ['a', wide, `| ${wide} |`, '```', wide, '```', `[x](${wide})`, `- ${wide}`];
    expect(wideLines({ path: 'a.md', text: text.join('\n') })).toEqual(['a.md:2', 'a.md:8']);
  });

  it('find files that do not exist', () => {
    const exists = (path: string) => ['src/http/app.ts', 'test/a.test.ts'].includes(path);
    const text = '`http/app.ts`, `test/a.test.ts`, `wire/a.ts` and `errors.ts`';
    expect(missingFiles({ path: 'README.md', text }, exists)).toEqual(['README.md: wire/a.ts']);
  });
});
