/*
 * The headers of the console's files, the same in both deployments. The page that holds the keys runs its own scripts alone, sends
 * requests to the endpoint alone, and is never framed. What objects contain is drawn in frames below /preview/, which have an
 * origin of their own because they are sandboxed, and can reach nothing.
 */

/** Where the files lie that are loaded into sandboxed frames. */
export const previewFolder = '/preview/';
/** Where files have names that change with their content. */
const hashedFolder = '/assets/';

/** What the console is told of its deployment: the content of `/config.json`. */
export interface ConsoleConfig {
  /** The URL of the S3 API, without a slash at the end. */
  readonly endpoint: string;
  readonly region: string;
  /** Of Stillage. */
  readonly version: string;
}

/** Sources as content security policies name them: https://www.w3.org/TR/CSP3/#framework-directive-source-list */
export interface ConsoleSources {
  /** The console: its origin or, where that is not known, `'self'`, which older browsers do not apply to sandboxed frames. */
  readonly console: string;
  /** The origin of the S3 API. */
  readonly endpoint: string;
}

type Directives = Readonly<Record<string, string>>;

const pagePolicy = ({ endpoint }: ConsoleSources): Directives => ({
  'default-src': `'none'`,
  'script-src': `'self'`,
  'style-src': `'self'`,
  'img-src': `'self'`,
  'connect-src': `'self' ${endpoint}`,
  // Downloads begin in hidden frames: the page itself would have to be left.
  'frame-src': `'self' ${endpoint}`,
  'worker-src': `'self'`,
  'base-uri': `'none'`,
  'form-action': `'none'`,
  'frame-ancestors': `'none'`,
  'require-trusted-types-for': `'script'`,
  'trusted-types': 'console',
});

const previewPolicy = ({ console }: ConsoleSources): Directives => {
  const files = console === `'self'` ? console : `${console}${previewFolder}`;
  return {
    sandbox: 'allow-scripts',
    'default-src': `'none'`,
    'script-src': files,
    'style-src': files,
    'img-src': 'blob:',
    'media-src': 'blob:',
    'font-src': 'blob: data:',
    'worker-src': 'blob:',
    'connect-src': `'none'`,
    'base-uri': `'none'`,
    'form-action': `'none'`,
    'frame-ancestors': console,
  };
};

/** The headers of everything that is answered where the console is, errors included. */
export const commonHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const;

type SecurityHeaders = Readonly<
  Record<keyof typeof commonHeaders | 'Content-Security-Policy' | 'Cross-Origin-Resource-Policy', string>
>;

/** Returns the headers that protect a file of the console. */
export function securityHeaders(path: string, sources: ConsoleSources): SecurityHeaders {
  const isPreview = path.startsWith(previewFolder);
  const directives = isPreview ? previewPolicy(sources) : pagePolicy(sources);
  return {
    ...commonHeaders,
    'Content-Security-Policy': Object.entries(directives)
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    // To a sandboxed frame, whose origin is opaque, everything here is of another one.
    'Cross-Origin-Resource-Policy': isPreview ? 'cross-origin' : 'same-origin',
  };
}

/** Returns for how long browsers may use a file without asking again: for good if its name says what is in it. */
export function cacheControl(path: string): string {
  return path.startsWith(hashedFolder) ? 'public, max-age=31536000, immutable' : 'no-cache';
}
