import { isIP } from 'node:net';
import { type Setting, usage } from './settings.ts';

export interface Listen {
  host: string;
  port: number;
}

const initial: Listen = { host: '127.0.0.1', port: 4200 };

/** An address and a port to listen on. A port alone is one of 127.0.0.1. */
export function listenOption(help: string): Setting<Listen> {
  return {
    flags: '--listen <port>',
    help: `${help}: a port of 127.0.0.1, or an address and a port such as 0.0.0.0:4200`,
    read(text, source) {
      const [, host, port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
      const bare = host?.replace(/^\[(.*)\]$/, '$1') ?? initial.host;
      if (port === undefined || Number(port) > 65_535 || (isIP(bare) === 0 && bare !== 'localhost'))
        throw usage(
          `${source} must be a port such as 4200, or an address with a port such as 0.0.0.0:4200, not "${text}".`,
        );
      return { host: bare, port: Number(port) };
    },
    initial,
    shown: `${initial.host}:${initial.port}`,
  };
}
