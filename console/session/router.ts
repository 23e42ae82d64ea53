import { signal, computed } from '@preact/signals';

/** The current view. Every view has an address, so that back, forward, reload and pasted links work. */
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
    const prefix = query.get('p') ?? decode(rest.join('/'));
    const tab = query.get('t') ?? undefined;
    const details = selected === undefined ? {} : { selected, ...(tab !== undefined && { tab }) };
    return {
      page: 'objects',
      bucket: decode(second),
      prefix,
      ...details,
      ...(query.has('deleted') && { deleted: true }),
    };
  }
  if (first === 'settings' && second !== '') {
    return { page: 'settings', bucket: decode(second), section: rest[0] ?? 'overview' };
  }
  if (first === 'people') return second === '' ? { page: 'people' } : { page: 'people', user: decode(second) };
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

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const here = (): string => `${location.pathname}${location.search}`;
const address = signal(here());

/** The route of the present address. */
export const route = computed((): Route => {
  const url = new URL(address.value, location.origin);
  return parseAddress(url.pathname, url.search);
});

addEventListener('popstate', () => (address.value = here()));

/** Goes to a route; with `replace` without a step in the history. */
export function go(to: Route, options: { readonly replace?: boolean } = {}): void {
  const next = addressOf(to);
  if (next === address.value) return;
  if (options.replace) history.replaceState(null, '', next);
  else history.pushState(null, '', next);
  address.value = next;
}

/** Follows links within the console without loading it again. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    const href = link?.getAttribute('href');
    if (!href?.startsWith('/') || href.startsWith('//') || link?.hasAttribute('target')) return;
    event.preventDefault();
    const url = new URL(href, location.origin);
    go(parseAddress(url.pathname, url.search));
  });
}
