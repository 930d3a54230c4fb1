import { SignageError } from '../../domain/error.ts';
import { diskProblem } from '../terminal/not-written.ts';

interface LostSecret {
  /** Takes the secret back. Returns what to say afterwards, or an empty text. */
  undo(): Promise<string>;
  /** What to say if `undo` failed. */
  left: string;
}

/**
 * Shows or saves a new secret. If that fails, such as on a full disk or because of a wrong `--jq`,
 * nobody knows the secret: takes it back, and throws the error with what was done.
 */
export async function keepSecret<T>(
  keep: () => Promise<T>,
  { undo, left }: LostSecret,
): Promise<T> {
  try {
    return await keep();
  } catch (thrown) {
    const error = diskProblem(thrown) ?? thrown;
    const end = await undo().catch(() => left);
    if (!(error instanceof SignageError)) throw error;
    const message = `${error.message} ${end}`.trimEnd();
    throw new SignageError(error.code, message, { ...error, cause: error.cause });
  }
}
