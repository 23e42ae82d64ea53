import { addressed, decoded } from '../session/address.ts';

/** The current view of an operator. */
export type Route =
  | { readonly page: 'customers' | 'audit' | 'profile' | 'unknown' }
  | { readonly page: 'customer'; readonly customer: string }
  | { readonly page: 'project'; readonly project: string }
  | {
      readonly page: 'usage';
      /** Undefined: none is chosen. */
      readonly project?: string;
    };

function parseAddress(pathname: string): Route {
  const [, first = '', second = '', ...rest] = pathname.split('/');
  const name = decoded(second);
  if (rest.length > 0) return { page: 'unknown' };
  if (first === '') return { page: 'customers' };
  if (first === 'customers' && name !== '') return { page: 'customer', customer: name };
  if (first === 'projects' && name !== '') return { page: 'project', project: name };
  if (first === 'usage') return name === '' ? { page: 'usage' } : { page: 'usage', project: name };
  if ((first === 'audit' || first === 'profile') && name === '') return { page: first };
  return { page: 'unknown' };
}

/** Turns a route into an address. */
export function addressOf(route: Route): string {
  switch (route.page) {
    case 'customer':
      return `/customers/${encodeURIComponent(route.customer)}`;
    case 'project':
      return `/projects/${encodeURIComponent(route.project)}`;
    case 'usage':
      return route.project === undefined ? '/usage' : `/usage/${encodeURIComponent(route.project)}`;
    case 'audit':
    case 'profile':
      return `/${route.page}`;
    case 'customers':
    case 'unknown':
      return '/';
  }
}

export const { route, go, followLinks } = addressed(parseAddress, addressOf);
