import type { SignageError } from '../../domain/error.ts';
import { usage } from '../options/settings.ts';

/** A TV that is not paired, and nobody to ask. */
export function needCode(): SignageError {
  return usage(
    '--code must be given: this TV is not paired, and there is nobody to ask here.',
    'signage code create, or signage pair, makes one.',
  );
}
