import { useEffect, useRef, useState } from 'preact/hooks';
import { locale, size, t } from '../../../messages/messages.ts';
import { getObject, headObject, type ObjectHead, type Place } from '../../../s3/objects.ts';
import { session } from '../../../session/session.ts';
import { useLoaded } from '../../../ui/loaded.ts';
import { ErrorBox } from '../../../ui/notices.tsx';

const mebibyte = 1024 ** 2;
/** In bytes: what is read of any object, the most that is read of a text, and the size of the largest object that is read as a whole. */
const limits = { head: 64 * 1024, text: mebibyte, whole: 64 * mebibyte } as const;

/** How long a film can be watched, in seconds. */
const playable = 4 * 3_600;

/** The beginning of an object; undefined: it cannot be read, or has no content. */
interface Beginning {
  readonly head: ArrayBuffer | undefined;
  readonly size: number;
  readonly isOwnKey: boolean;
}

/**
 * Shows an object in a frame with a separate origin and no access to this page: the frame gets only the first bytes, determines the kind of
 * content from them, and asks for the rest if it can show it.
 */
export function PreviewTab({
  place,
  object,
}: {
  readonly place: Place;
  /** Its attributes, unless it is an earlier version. */
  readonly object?: ObjectHead | undefined;
}) {
  const { client } = session.value!;
  const { bucket, key, versionId } = place;
  const texts = t.value.details;
  const loaded = useLoaded(
    async (signal): Promise<Beginning> => {
      const { encryption, size: bytes } = object ?? (await headObject(client, bucket, key, versionId, signal));
      const isOwnKey = encryption === 'SSE-C';
      if (isOwnKey || bytes === 0) return { head: undefined, size: bytes, isOwnKey };
      const response = await getObject(client, bucket, key, { versionId, signal, end: limits.head - 1 });
      return { head: await response.arrayBuffer(), size: bytes, isOwnKey };
    },
    [client, bucket, key, versionId],
  );
  if (loaded.error !== undefined) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const { head, isOwnKey } = loaded.value;
  return (
    <div class="stack tight">
      {versionId !== undefined && (
        <p class="hint">
          {texts.versionId} <span class="mono">{versionId}</span>
        </p>
      )}
      {isOwnKey ? (
        <p>{texts.previewSseC}</p>
      ) : head === undefined ? (
        <p class="muted">{size(0)}</p>
      ) : (
        <Frame key={versionId ?? ''} place={place} head={head} size={loaded.value.size} />
      )}
    </div>
  );
}

/** What the frame asks for: the whole of an object, or so much of a text, or to have it played. */
type Wanted = 'ready' | { readonly wanted: 'whole' | 'text' | 'stream'; readonly type: string };

function Frame({
  place,
  head,
  size: bytes,
}: {
  readonly place: Place;
  readonly head: ArrayBuffer;
  readonly size: number;
}) {
  const { client } = session.value!;
  const frame = useRef<HTMLIFrameElement>(null);
  const [film, setFilm] = useState('');
  const [error, setError] = useState<unknown>();
  const texts = t.value.details;
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    const answer = async (inside: Window, data: Wanted): Promise<void> => {
      const { bucket, key, versionId } = place;
      if (data === 'ready') {
        const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
        const words = {
          none: texts.previewNone,
          large: texts.previewTooLarge(size(limits.whole)),
          cut: texts.previewLarge(size(limits.text)),
          rows: texts.previewRows('{shown}', '{all}'),
        };
        inside.postMessage({ head, size: bytes, isDark, language: locale.peek(), texts: words, limits }, '*');
      } else if (data.wanted === 'stream') {
        if (/^(?:audio|video)\/[\w-]+$/.test(data.type)) setFilm(await filmUrl(data.type));
      } else if (data.wanted === 'text' || bytes <= limits.whole) {
        const end = data.wanted === 'text' ? { end: limits.text - 1 } : {};
        const response = await getObject(client, bucket, key, { versionId, signal, ...end });
        inside.postMessage({ bytes: await response.arrayBuffer() }, '*');
      }
    };
    /** Whatever the object says that it is, it comes as what its bytes are. */
    const filmUrl = (type: string): Promise<string> => {
      const { bucket, key, versionId } = place;
      const query = { versionId, 'response-content-type': type, 'response-content-disposition': 'inline' };
      return client.presigned({ method: 'GET', bucket, key, query }, playable);
    };
    const onMessage = ({ source, data }: MessageEvent<Wanted>): void => {
      // The frame's origin is opaque, so it is identified by its window.
      const inside = frame.current?.contentWindow;
      if (inside && source === inside)
        answer(inside, data).catch((failure: unknown) => signal.aborted || setError(failure));
    };
    addEventListener('message', onMessage);
    return () => {
      ended.abort();
      removeEventListener('message', onMessage);
    };
  }, [head]);
  if (error !== undefined) return <ErrorBox error={error} />;
  const shared = { class: 'preview-frame', title: texts.previewFrame, referrerpolicy: 'no-referrer' } as const;
  // The browser plays it, reading by ranges, in a document without scripts. Its origin is the endpoint's, not this page's: Chromium reads on
  // from an opaque one only if the bucket's CORS rules let everybody in.
  if (film !== '') return <iframe key="film" {...shared} sandbox="allow-same-origin" src={film} />;
  return <iframe key="frame" ref={frame} {...shared} sandbox="allow-scripts" src="/preview/index.html" />;
}
