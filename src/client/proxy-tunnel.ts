import type { Agent, request as httpRequest } from 'node:http';
import type { AgentOptions as SecureAgentOptions } from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { SignageError } from '../domain/error.ts';
import { unreachable } from './transport.ts';

/** An HTTP proxy between this machine and a service. */
export interface HttpProxy {
  /** The variable that names the proxy, for errors: `HTTPS_PROXY`. */
  variable: string;
  /** An http or https URL without user name and password. */
  url: URL;
  /** Value of the header `Proxy-Authorization`. */
  authorization?: string | undefined;
}

const connectTimeoutMs = 10_000;
const authenticationRequired = 407;
/** Answers of a proxy that cannot reach the host now. */
const temporaryStatuses = [502, 503, 504];

/** Loads one protocol. `import` would also evaluate Node's whole fetch implementation. */
export function nodeHttp(protocol: string): {
  request: typeof httpRequest;
  Agent: new (options: SecureAgentOptions) => Agent;
} {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
}

const nameOf = ({ url, variable }: HttpProxy) => `the proxy ${url.origin} (${variable})`;

/** Makes the error for a proxy that answered CONNECT without success. */
function refusal(proxy: HttpProxy, status: number, authority: string): SignageError {
  const { authorization, variable, url } = proxy;
  const host = authority.replace(/:\d+$/, '');
  if (status === authenticationRequired) {
    const reason = authorization
      ? 'rejects the user name or the password'
      : 'asks for a user name and a password';
    return new SignageError('proxy_refused', `Cannot pass ${nameOf(proxy)}: it ${reason} (407).`, {
      hint: `Set ${variable} to ${url.protocol}//USER:PASSWORD@${url.host}, with special characters percent-encoded.`,
    });
  }
  return new SignageError(
    temporaryStatuses.includes(status) ? 'unreachable' : 'proxy_refused',
    `Cannot reach ${authority} through ${nameOf(proxy)}: it answered ${status}.`,
    { hint: `Ask the operator of the proxy, or list ${host} in NO_PROXY to connect directly.` },
  );
}

function proxyUnreachable(proxy: HttpProxy, cause: unknown): SignageError {
  return new SignageError('unreachable', unreachable(cause, nameOf(proxy)).message, {
    cause,
    hint: `Correct ${proxy.variable}, or list the host in NO_PROXY to connect directly.`,
  });
}

/**
 * Opens a connection to `authority` (`host:port`) through a proxy, with CONNECT. Throws
 * `unreachable` or `proxy_refused`, with the name of the proxy.
 */
export function openTunnel(
  proxy: HttpProxy,
  authority: string,
  certificates?: readonly string[],
): Promise<Socket> {
  const { request } = nodeHttp(proxy.url.protocol);
  const { authorization } = proxy;
  return new Promise((resolve, reject) => {
    const connecting = request({
      ...urlToHttpOptions(proxy.url),
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        ...(authorization !== undefined && { 'proxy-authorization': authorization }),
      },
      agent: false,
      timeout: connectTimeoutMs,
      ...(certificates && { ca: [...certificates] }),
    });
    connecting.on('connect', ({ statusCode = 0 }, socket: Socket) => {
      if (statusCode >= 200 && statusCode < 300) {
        socket.setTimeout(0);
        resolve(socket);
      } else {
        socket.destroy();
        reject(refusal(proxy, statusCode, authority));
      }
    });
    connecting.on('timeout', () =>
      connecting.destroy(Object.assign(new Error('timeout'), { code: 'UND_ERR_CONNECT_TIMEOUT' })),
    );
    connecting.on('error', (error) => reject(proxyUnreachable(proxy, error)));
    connecting.end();
  });
}

/** Makes an agent of `node:http` or `node:https` whose connections pass a proxy. */
export function makeTunnelAgent(
  proxy: HttpProxy,
  protocol: string,
  options: SecureAgentOptions,
): Agent {
  const agent = new (nodeHttp(protocol).Agent)(options);
  const connectDirectly = agent.createConnection.bind(agent);
  const certificates = typeof options.ca === 'object' ? (options.ca as string[]) : undefined;
  agent.createConnection = (target, done) => {
    const { host, port } = target as { host: string; port: number };
    const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    // Over the tunnel, the agent of `node:https` only adds TLS.
    const overTunnel = (socket: Socket) =>
      protocol === 'https:' ? connectDirectly({ ...target, socket } as typeof target) : socket;
    openTunnel(proxy, authority, certificates)
      .then(overTunnel)
      .then(
        (socket) => done?.(null, socket as Socket),
        (error: Error) => done?.(error, undefined as never),
      );
    return undefined;
  };
  return agent;
}
