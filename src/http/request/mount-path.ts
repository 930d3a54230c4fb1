/** Rewrites the path and query of a request. */
export type RewritePath = (path: string) => string;

/**
 * Returns the path of the public URL, such as `/signage`. Returns an empty string if there is no
 * path.
 */
export function mountPathOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}

/**
 * Returns a function that removes the mount path, such as `/signage`, from the path of a request. A
 * path without the mount path stays the same, because many proxies and frameworks remove it
 * themselves. Returns `undefined` if there is no mount path.
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

/**
 * Returns a `Location` as an absolute path. `location` may be relative to the path of its request.
 */
export function mountedLocation(mountPath: string, location: string, requestPath: string): string {
  return mountPath + new URL(location, `http://any${requestPath}`).pathname;
}
