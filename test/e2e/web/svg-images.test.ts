import { expect, it } from 'vitest';
import { svgFiles } from '../../cli/playlist/media/svg-files.ts';
import { chromiumPath, needsChromium, openTvPage } from '../../support/browser/chromium.ts';

it.skipIf(!chromiumPath)(
  `Chromium shows the SVG images that playlist check accepts${needsChromium}`,
  async () => {
    const { page } = await openTvPage();
    const shown = (text: string | Buffer) => {
      const url = `data:image/svg+xml;base64,${Buffer.from(text as string).toString('base64')}`;
      return page.evaluate(
        `Object.assign(new Image(), { src: '${url}' }).decode().then(() => true, () => false)`,
      );
    };
    for (const [what, text, fault] of svgFiles)
      expect([what, await shown(text)]).toEqual([what, fault === undefined]);
  },
);
