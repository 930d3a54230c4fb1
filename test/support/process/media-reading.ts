import type { MediaReading } from '../../../src/cli/examination/local-media.ts';
import { examine } from '../../../src/media/examination/examine.ts';

/** What a command needs to read media files, without a thread. */
export const mediaReading: MediaReading = { examine, interrupted: new AbortController().signal };
