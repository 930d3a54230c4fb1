import { SignageError } from '../../domain/error.ts';
import { shellQuote } from '../records/text.ts';
import type { Flags, ProgramEnvironment } from './environment.ts';
import { makeCommandContext } from './make-context.ts';
import type { CommandSpec } from './spec.ts';

/** Replaces `{venue}` in a hint by the value of that argument or option. */
function fillHint(hint: string, values: Flags): string {
  return hint.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    shellQuote(String(values[name] ?? name.toUpperCase())),
  );
}

/** Runs a command and returns its exit code. Adds the command's hint to an error without one. */
export async function runSpec(
  spec: CommandSpec,
  { given, flags }: { given: readonly unknown[]; flags: Flags },
  environment: ProgramEnvironment,
): Promise<number> {
  const call = makeCommandContext(spec, given, flags, environment);
  try {
    const exitCode = await spec.run(call);
    await call.results.finish();
    return exitCode ?? 0;
  } catch (error) {
    const hint =
      error instanceof SignageError && error.hint === undefined
        ? spec.hints?.[error.code]
        : undefined;
    if (!(error instanceof SignageError) || hint === undefined) throw error;
    throw new SignageError(error.code, error.message, {
      ...error,
      cause: error.cause,
      hint: fillHint(hint, { ...flags, ...call.args }),
    });
  }
}
