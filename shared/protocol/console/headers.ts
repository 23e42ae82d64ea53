/*
 * The headers of the console's files, the same in both deployments. The page that holds the keys runs only its own
 * scripts, sends requests only to the endpoint, and cannot be framed. The contents of objects are rendered in frames
 * under /preview/, which are sandboxed: their origin is opaque, and they can reach nothing.
 */

/** The folder of files that are loaded into sandboxed frames. */
export const previewFolder = '/preview/';
/** The folder of files whose names change with their content. */
const hashedFolder = '/assets/';

/** The console's configuration: the content of `/config.json`. */
export interface ConsoleConfig {
  /** The URL of the S3 API, without a trailing slash. */
  readonly endpoint: string;
  readonly region: string;
  /** The version of Stillage. */
  readonly version: string;
  /** The address of websites, with `*` for the bucket: `https://*.web.example.com`. Absent: none are served. */
  readonly websites?: string;
}

/** Sources for content security policies: https://www.w3.org/TR/CSP3/#framework-directive-source-list */
export interface ConsoleSources {
  /** The console's origin or, if unknown, `'self'`, which older browsers do not apply to sandboxed frames. */
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
  // Downloads start in hidden frames, since the page itself would otherwise be left.
  'frame-src': `'self' ${endpoint}`,
  'worker-src': `'self'`,
  'base-uri': `'none'`,
  'form-action': `'none'`,
  'frame-ancestors': `'none'`,
  'require-trusted-types-for': `'script'`,
  'trusted-types': 'console',
});

/** That of the operators' page: it speaks to its own origin alone, and has no frames, workers or scripts made of text. */
const operatorsPolicy: Directives = {
  'default-src': `'none'`,
  'script-src': `'self'`,
  'style-src': `'self'`,
  'img-src': `'self'`,
  'connect-src': `'self'`,
  'base-uri': `'none'`,
  'form-action': `'none'`,
  'frame-ancestors': `'none'`,
  'require-trusted-types-for': `'script'`,
  'trusted-types': `'none'`,
};

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

/** The headers of all responses from the console's origin, including errors. */
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
  return {
    ...commonHeaders,
    'Content-Security-Policy': policyOf(isPreview ? previewPolicy(sources) : pagePolicy(sources)),
    // For a sandboxed frame, whose origin is opaque, everything here is cross-origin.
    'Cross-Origin-Resource-Policy': isPreview ? 'cross-origin' : 'same-origin',
  };
}

/** The headers that protect the files of the operators' page. */
export const operatorsHeaders: SecurityHeaders = {
  ...commonHeaders,
  'Content-Security-Policy': policyOf(operatorsPolicy),
  'Cross-Origin-Resource-Policy': 'same-origin',
};

function policyOf(directives: Directives): string {
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
}

/** Returns how long browsers may cache a file without revalidation: forever if its name depends on its content. */
export function cacheControl(path: string): string {
  return path.startsWith(hashedFolder) ? 'public, max-age=31536000, immutable' : 'no-cache';
}
