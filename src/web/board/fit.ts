/** The space for the tiles, in pixels. */
export interface Space {
  width: number;
  height: number;
  gap: number;
  rem: number;
  hasPictures: boolean;
}

/** Width at which a tile is read with ease, and the limits where all tiles are to fit. */
const usualRem = 15;
const minRem = 11;
const maxRem = 60;
/** The height of a text is a part of the width of its tile, within limits, as in board.css. */
const widthInEms = 18;
const maxTextRem = 2.2;
/** Height of the text below a picture, and of the text of a tile without one. */
const belowPictureEms = 5.5;
const aloneEms = 9;
const headingRem = 2.2;

/** The height of all venues with tiles of this width. Venues that fit into one row share it. */
function heightOf(counts: readonly number[], width: number, columns: number, space: Space): number {
  const { gap, rem, hasPictures } = space;
  const em = Math.min(maxTextRem * rem, Math.max(rem, width / widthInEms));
  const withPicture = hasPictures ? (width * 9) / 16 + belowPictureEms * em : 0;
  const row = Math.max(withPicture, aloneEms * em) + gap;
  let height = 0;
  let left = 0;
  for (const count of counts) {
    if (count > left) {
      height += headingRem * rem + gap + Math.ceil(count / columns) * row;
      left = columns;
    }
    left = count >= columns ? 0 : left - count;
  }
  return height;
}

/**
 * Returns the largest width at which the tiles of all venues fit into the space, or the smallest
 * usual width.
 */
export function tileWidth(counts: readonly number[], space: Space): number {
  const { width, height, gap, rem } = space;
  const columnsOf = (rems: number) => Math.max(1, Math.floor((width + gap) / (rems * rem + gap)));
  const widthOf = (columns: number) => Math.floor((width - (columns - 1) * gap) / columns);
  for (let columns = 1; columns <= columnsOf(minRem); columns++) {
    const tile = Math.min(widthOf(columns), maxRem * rem);
    if (heightOf(counts, tile, columns, space) <= height) return tile;
  }
  return widthOf(columnsOf(usualRem));
}
