// Loaded when a PDF is shown: PDF.js draws its pages. Nothing in a document is executed: neither JavaScript nor links nor forms.
import { getDocument, GlobalWorkerOptions, type PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';

const maxPages = 500;
/** The largest image in a document that is drawn, in pixels. */
const maxImageSize = 64 * 1024 ** 2;

declare global {
  /** Draws a PDF into the page. Rejects if the content is not a PDF, or needs a password. */
  var showPdf: ((bytes: ArrayBuffer) => Promise<void>) | undefined;
}

// The frame's origin is opaque, and workers must have the origin of their page, so a worker created here loads the script.
const source = new URL('pdf-worker.js', (document.currentScript as HTMLScriptElement).src).href;
const loader = new Blob([`importScripts(${JSON.stringify(source)});`], { type: 'text/javascript' });
GlobalWorkerOptions.workerPort = new Worker(URL.createObjectURL(loader));

globalThis.showPdf = async (bytes) => {
  const document = await getDocument({
    data: bytes,
    isEvalSupported: false,
    useWasm: false,
    useWorkerFetch: false,
    useSystemFonts: true,
    enableXfa: false,
    maxImageSize,
    verbosity: 0,
  }).promise;
  await draw(document);
};

async function draw(pdf: PDFDocumentProxy): Promise<void> {
  const pages: HTMLElement[] = [];
  const first = (await pdf.getPage(1)).getViewport({ scale: 1 });
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        drawPage(pdf, pages.indexOf(target as HTMLElement) + 1, target as HTMLElement).catch(() => undefined);
      }
    },
    { rootMargin: '100%' },
  );
  for (let number = 1; number <= Math.min(pdf.numPages, maxPages); number++) {
    const page = document.createElement('section');
    page.className = 'pdf-page';
    // Most documents have pages of one size. Others get their size when they are drawn.
    page.style.aspectRatio = `${first.width} / ${first.height}`;
    pages.push(page);
  }
  document.body.replaceChildren(...pages);
  for (const page of pages) observer.observe(page);
}

async function drawPage(pdf: PDFDocumentProxy, number: number, page: HTMLElement): Promise<void> {
  const loaded = await pdf.getPage(number);
  const natural = loaded.getViewport({ scale: 1 });
  page.style.aspectRatio = `${natural.width} / ${natural.height}`;
  const scale = Math.min(4, (page.clientWidth / natural.width) * devicePixelRatio);
  const viewport = loaded.getViewport({ scale });
  const canvas = document.createElement('canvas');
  canvas.width = Math.floor(viewport.width);
  canvas.height = Math.floor(viewport.height);
  await loaded.render({ canvas, viewport }).promise;
  const text = document.createElement('p');
  text.className = 'visually-hidden';
  const { items } = await loaded.getTextContent();
  text.textContent = items.map((item) => ('str' in item ? item.str : '')).join(' ');
  page.replaceChildren(canvas, text);
}
