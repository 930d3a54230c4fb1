import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const isLicence = (file) => /^(licen[cs]e|notice|copying)/i.test(file);

/**
 * Returns the licences and notices of packages, which copies of them must contain. Names the
 * licence of a package without such a file.
 */
export function licenceTexts(folders) {
  return folders.flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const title = `${manifest.name} ${manifest.version}`;
    const files = readdirSync(folder).filter(isLicence);
    if (files.length === 0) return [`${title}: ${manifest.license}, by its package.json\n`];
    return files.map((file) => `${title}: ${file}\n\n${readFileSync(join(folder, file), 'utf8')}`);
  });
}

const separator = `\n${'='.repeat(80)}\n\n`;
export const joinLicences = (texts) => texts.join(separator);
export const splitLicences = (joined) => joined.split(separator);

/** Returns the package that a text is about, as `name@version`. */
export const packageOfText = (text) => /^(\S+) (\S+): /.exec(text)?.slice(1).join('@');

const packageFolder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Returns the folders of the packages that a bundle of rolldown contains. */
export function bundledPackageFolders(output) {
  const folders = output
    .flatMap(({ moduleIds }) => moduleIds)
    .flatMap((id) => packageFolder.exec(id.replaceAll('\\', '/'))?.[0].replace(/^\0/, '') ?? []);
  return [...new Set(folders)].sort();
}
