// Turns a stream that the page makes into a download of the browser: archives go to disk as they are made.
const scope = self as unknown as ServiceWorkerGlobalScope;

interface Promised {
  readonly id: string;
  readonly name: string;
  readonly stream: ReadableStream<Uint8Array>;
}

const promised = new Map<string, Promised>();

scope.addEventListener('install', () => void scope.skipWaiting());
scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));

scope.addEventListener('message', ({ data, ports }) => {
  // Anything else keeps the worker alive while a stream runs.
  if (typeof data !== 'object' || data === null) return;
  const download = data as Promised;
  promised.set(download.id, download);
  ports[0]?.postMessage('ready');
});

scope.addEventListener('fetch', (event) => {
  const { pathname, origin } = new URL(event.request.url);
  const found = /^\/download\/([\w-]+)$/.exec(pathname);
  if (origin !== scope.location.origin || found === null) return;
  const download = promised.get(found[1]!);
  promised.delete(found[1]!);
  if (download === undefined) return event.respondWith(new Response('There is no such download.', { status: 404 }));
  event.respondWith(
    new Response(download.stream, {
      headers: {
        'content-type': 'application/zip',
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(download.name)}`,
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
      },
    }),
  );
});
