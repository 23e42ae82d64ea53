import { useEffect, useRef } from 'preact/hooks';
import { size, t } from '../../../messages/messages.ts';
import { getObject, headObject, type Place } from '../../../s3/objects.ts';
import { session } from '../../../session/session.ts';
import { useLoaded } from '../../../ui/loaded.ts';
import { ErrorBox } from '../../../ui/notices.tsx';

const mebibyte = 1024 ** 2;
/** In bytes: the most that is read of a text, and the size of the largest object of another kind that is shown. */
const limits = { text: mebibyte, whole: 64 * mebibyte } as const;

interface Shown {
  readonly bytes: ArrayBuffer | undefined;
  readonly size: number;
  readonly isCut: boolean;
  readonly isOwnKey: boolean;
}

/**
 * Shows an object in a frame with a separate origin and no access to this page: the frame gets only the bytes, and determines the kind of
 * content from them.
 */
export function PreviewTab({ place }: { readonly place: Place }) {
  const { client } = session.value!;
  const texts = t.value.details;
  const loaded = useLoaded(
    async (signal): Promise<Shown> => {
      const head = await headObject(client, place.bucket, place.key, place.versionId, signal);
      const isOwnKey = head.encryption === 'SSE-C';
      if (isOwnKey || head.size === 0) return { bytes: undefined, size: head.size, isCut: false, isOwnKey };
      const isText = /^text\/|json|xml|javascript|csv|yaml/.test(head.headers['content-type'] ?? '');
      const isLarge = head.size > limits.whole;
      const isCut = isLarge || (isText && head.size > limits.text);
      const options = { versionId: place.versionId, signal, ...(isCut && { end: limits.text - 1 }) };
      const response = await getObject(client, place.bucket, place.key, options);
      return { bytes: await response.arrayBuffer(), size: head.size, isCut, isOwnKey };
    },
    [client, place.bucket, place.key, place.versionId],
  );
  if (loaded.error !== undefined) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const { bytes, isCut, isOwnKey } = loaded.value;
  return (
    <div class="stack tight">
      {place.versionId !== undefined && (
        <p class="hint">
          {texts.versionId} <span class="mono">{place.versionId}</span>
        </p>
      )}
      {isOwnKey ? (
        <p>{texts.previewSseC}</p>
      ) : bytes === undefined ? (
        <p class="muted">{size(0)}</p>
      ) : (
        <Frame key={place.versionId ?? ''} bytes={bytes} isCut={isCut} />
      )}
      {isCut && <p class="hint">{texts.previewLarge(size(limits.text))}</p>}
    </div>
  );
}

function Frame({ bytes, isCut }: { readonly bytes: ArrayBuffer; readonly isCut: boolean }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const { previewNone: none, previewLarge } = t.value.details;
  useEffect(() => {
    const show = (event: MessageEvent): void => {
      // The frame's origin is opaque, so it is identified by its window.
      const inside = frame.current?.contentWindow;
      if (!inside || event.source !== inside || event.data !== 'ready') return;
      const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
      const cut = previewLarge(size(limits.text));
      inside.postMessage({ bytes, isCut, isDark, none, cut, maxText: limits.text }, '*');
    };
    addEventListener('message', show);
    return () => removeEventListener('message', show);
  }, [bytes]);
  return (
    <iframe
      ref={frame}
      class="preview-frame"
      title={t.value.details.previewFrame}
      sandbox="allow-scripts"
      referrerpolicy="no-referrer"
      src="/preview/index.html"
    />
  );
}
