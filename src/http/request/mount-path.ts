/** Rewrites the path and query of a request. */
export type RewritePath = (path: string) => string;

/** Returns the path of the public URL: `/signage`, or an empty text for none. */
export function mountPathOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}

/**
 * Returns a function that removes the mount path, such as `/signage`, from the path of a request.
 * A path without it stays the same, because many proxies and frameworks remove it themselves.
 * Returns `undefined` if there is nothing to remove.
 */
export function makeRemoveMountPath(mountPath: string): RewritePath | undefined {
  if (mountPath === '') return undefined;
  return (path) => {
    if (!path.startsWith(mountPath)) return path;
    const rest = path.slice(mountPath.length);
    if (rest.startsWith('/')) return rest;
    return rest === '' || rest.startsWith('?') ? `/${rest}` : path;
  };
}

/** Returns the absolute path of a `Location`, which may be relative to the path of its request. */
export function mountedLocation(mountPath: string, location: string, requestPath: string): string {
  return mountPath + new URL(location, `http://any${requestPath}`).pathname;
}
