import type { ServeOptions } from '../../serve/serve-options.ts';
import type { Io } from '../terminal/io.ts';

/** Reads the standard environment variables of AWS. Secrets have no flags. */
export function readAwsSettings({ env }: Pick<Io, 'env'>): NonNullable<ServeOptions['aws']> {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION;
  return {
    ...(AWS_ACCESS_KEY_ID && { accessKeyId: AWS_ACCESS_KEY_ID }),
    ...(AWS_SECRET_ACCESS_KEY && { secretAccessKey: AWS_SECRET_ACCESS_KEY }),
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
    ...(region && { region }),
  };
}
