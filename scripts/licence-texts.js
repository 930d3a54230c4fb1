import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const isLicence = (file) => /^(licen[cs]e|notice|copying)/i.test(file);

/** Returns the licences and notices of packages, which copies of them must contain. */
export function licenceTexts(folders) {
  return folders.flatMap((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return readdirSync(folder)
      .filter(isLicence)
      .map((file) => `${name} ${version}: ${file}\n\n${readFileSync(join(folder, file), 'utf8')}`);
  });
}

export const joinLicences = (texts) => texts.join(`\n${'='.repeat(80)}\n\n`);

const packageFolder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Returns the folders of the packages that a bundle of rolldown contains. */
export function bundledPackageFolders(output) {
  const folders = output
    .flatMap(({ moduleIds }) => moduleIds)
    .flatMap((id) => packageFolder.exec(id.replaceAll('\\', '/'))?.[0].replace(/^\0/, '') ?? []);
  return [...new Set(folders)].sort();
}
