import { listenOption } from '../../input/listen-option.ts';
import * as option from '../../input/option.ts';
import { behaviourOptions, connectionOptions, outputOptions } from '../../input/shared.ts';

const { context, caFile, insecureHttp } = connectionOptions;

export const recordOptions = {
  to: option.text('--to <url>', 'URL of the service; default: the service of the context'),
  listen: listenOption('where the TV connects'),
  out: option.text('--out <file>', 'new file for the recording, readable only by you'),
  summary: option.text('--summary <file>', 'summarize this recording, and record nothing'),
  ...outputOptions,
  quiet: behaviourOptions.quiet,
  context,
  caFile,
  insecureHttp,
};
