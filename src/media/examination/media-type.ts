import { isMediaType, type MediaType, mediaTypes } from '../../domain/media/media-types.ts';
import type { FileFormat } from './format.ts';
import { fromFirstTag, type Markup, svgNamespace, type Xml } from './markup.ts';
import type { Verdict } from './verdict.ts';

const accepted = Object.values(mediaTypes)
  .map(({ name }) => name.split(' ')[1])
  .join(', ')
  .replace(', HTML', ' and single HTML pages');

/** The type of a file, or why the service refuses it and what to do. */
type TypeJudgement = Pick<Verdict, 'type' | 'refusal'>;

const is = (type: MediaType): TypeJudgement => ({ type, refusal: undefined });
const refused = (refusal: string): TypeJudgement => ({ type: undefined, refusal });

const htmlStart = /^<(?:!doctype\s+html|html)[\s>]/i;

/** Judges a text that may be markup. */
function typeOfText({ text, isWhole, isDamaged }: Markup, xml: Xml | undefined): TypeJudgement {
  if (htmlStart.test(fromFirstTag(text))) return is('text/html');
  const { root, flaw, excess } = xml ?? {};
  if (excess !== undefined)
    return refused(
      `This file takes too much to examine: ${excess}. Export it again as plain SVG, without a DOCTYPE.`,
    );
  if (root?.name === 'svg') {
    if (root.namespace !== svgNamespace)
      return refused(
        `Browsers do not show this SVG: its root element lacks xmlns="${svgNamespace}".`,
      );
    if (flaw !== undefined)
      return refused(`Browsers do not show this SVG, because it is not well-formed: ${flaw}.`);
    return is('image/svg+xml');
  }
  if (root?.name === 'html') return is('text/html');
  if (xml && !root && !isWhole && !isDamaged)
    return refused(
      'The first 64 KiB of this file have no root element, so its type is unknown. Shorten the comments at its beginning.',
    );
  return refused(`This is none of the accepted types: ${accepted}. A page needs <!doctype html>.`);
}

/**
 * Judges the type of a file by its content, never by its name.
 *
 * @param type of the file, unless it may be a text
 * @param format of the file
 * @param text the first bytes of the file as text, and as XML
 */
export function judgeType(
  type: string | undefined,
  format: FileFormat | undefined,
  { markup, xml }: { markup: Markup; xml: Xml | undefined },
): TypeJudgement {
  if (markup.text === '') return refused('The file is empty.');
  if (type === undefined) return typeOfText(markup, xml);
  if (isMediaType(type)) return is(type);
  const {
    name = type,
    kind = 'other',
    advice = `The accepted types are ${accepted}.`,
  } = format ?? {};
  const effect = kind === 'other' ? 'which browsers do not show' : 'which few TVs play';
  return refused(`This is ${name}, ${effect}. ${advice}`);
}
