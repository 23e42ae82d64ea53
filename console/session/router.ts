import { addressed, decoded } from './address.ts';

/** The current view. */
export type Route =
  | { readonly page: 'buckets' }
  | {
      readonly page: 'objects';
      readonly bucket: string;
      /** The folder, ending in `/`; empty: the top. Without the slash: a path, of an object or of a folder. */
      readonly prefix: string;
      /** The key of the object whose details are open. */
      readonly selected?: string;
      /** The part of its details that is shown. */
      readonly tab?: string;
      /** True: what was deleted is shown, in place of what is there. */
      readonly deleted?: boolean;
    }
  | { readonly page: 'settings'; readonly bucket: string; readonly section: string }
  | {
      readonly page: 'people';
      /** Undefined: the list of all. */
      readonly user?: string;
    }
  | { readonly page: 'transfers' | 'activity' | 'profile' | 'unknown' };

/** Turns an address into a route. */
function parseAddress(pathname: string, search: string): Route {
  const query = new URLSearchParams(search);
  const [, first = '', second = '', ...rest] = pathname.split('/');
  if (first === '') return { page: 'buckets' };
  if (first === 'b' && second !== '') {
    const selected = query.get('o') ?? undefined;
    const prefix = query.get('p') ?? decoded(rest.join('/'));
    const tab = query.get('t') ?? undefined;
    const details = selected === undefined ? {} : { selected, ...(tab !== undefined && { tab }) };
    return {
      page: 'objects',
      bucket: decoded(second),
      prefix,
      ...details,
      ...(query.has('deleted') && { deleted: true }),
    };
  }
  if (first === 'settings' && second !== '') {
    return { page: 'settings', bucket: decoded(second), section: rest[0] ?? 'overview' };
  }
  if (first === 'people') return second === '' ? { page: 'people' } : { page: 'people', user: decoded(second) };
  if (first === 'transfers' || first === 'activity' || first === 'profile') return { page: first };
  return { page: 'unknown' };
}

/** Turns a route into an address. */
export function addressOf(route: Route): string {
  switch (route.page) {
    case 'buckets':
      return '/';
    case 'objects': {
      const { bucket, prefix, selected, tab, deleted } = route;
      const query = new URLSearchParams();
      // A browser would remove `.` and `..` from a path.
      const fits = !/(^|\/)\.{1,2}(\/|$)/.test(prefix) && prefix.isWellFormed();
      if (!fits) query.set('p', prefix);
      if (deleted === true) query.set('deleted', '');
      if (selected !== undefined) query.set('o', selected);
      if (selected !== undefined && tab !== undefined) query.set('t', tab);
      const path = fits ? prefix.split('/').map(encodeURIComponent).join('/') : '';
      return `/b/${encodeURIComponent(bucket)}/${path}${query.size > 0 ? `?${query}` : ''}`;
    }
    case 'settings':
      return `/settings/${encodeURIComponent(route.bucket)}/${route.section}`;
    case 'people':
      return route.user === undefined ? '/people' : `/people/${encodeURIComponent(route.user)}`;
    case 'unknown':
      return '/';
    default:
      return `/${route.page}`;
  }
}

export const { route, go, followLinks } = addressed(parseAddress, addressOf);
