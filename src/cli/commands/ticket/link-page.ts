import { renderSVG } from 'uqr';
import { htmlPage, htmlText } from '../../output/html.ts';

const style = `
@page { size: A4; margin: 10mm }
body { font: 10pt/1.3 system-ui, sans-serif; color: #000; background: #fff; margin: 0 auto; max-width: 190mm }
ul { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: repeat(3, 1fr) }
li { box-sizing: border-box; height: 68mm; padding: 2mm; text-align: center; break-inside: avoid; overflow: hidden }
li:nth-child(12n) { break-after: page }
svg { display: block; width: 46mm; height: 46mm; margin: 0 auto 1mm }
b { display: block; overflow-wrap: anywhere; font-size: 11pt }
`;

/** A link, as the page shows it. */
export interface ShownLink {
  venue: string;
  screen: string | null;
  link: string;
  expiresAt: string;
}

/** Returns a page with the QR codes of links, 12 on a sheet of A4. */
export function linkPage(links: readonly ShownLink[]): string {
  const items = links.map(
    ({ venue, screen, link, expiresAt }) =>
      `<li>${renderSVG(link, { border: 2 })}<b>${htmlText(screen === null ? venue : `${venue}/${screen}`)}</b>until ${expiresAt.slice(0, 10)}</li>`,
  );
  return htmlPage('Links of TVs', style, `<ul>\n${items.join('\n')}\n</ul>`);
}
