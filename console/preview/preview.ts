// Runs in a frame without an origin, network access or a key. It draws text or images, never markup.
import './preview.css';
import type {} from './pdf.ts';
import { parseCsv, separatorOf, sniff, type Sniffed } from './sniff.ts';

interface Order {
  readonly bytes: ArrayBuffer;
  readonly isCut: boolean;
  readonly isDark: boolean;
  /** The text for content that cannot be shown. */
  readonly none: string;
  /** The text for content of which only the beginning is shown. */
  readonly cut: string;
  /** The most bytes of text that are shown. */
  readonly maxText: number;
}

const maxRows = 1_000;
/** The most fields of a row. A hostile file may have a million in one. */
const maxFields = 100;

addEventListener('message', (event: MessageEvent<Order>) => {
  if (event.source !== parent) return;
  document.documentElement.classList.toggle('dark', event.data.isDark);
  draw(event.data);
});
parent.postMessage('ready', '*');

function draw({ bytes, isCut, none, cut, maxText }: Order): void {
  const found = sniff(new Uint8Array(bytes));
  // The Content-Type may have been that of something else, so that all of it was read.
  const isLong = bytes.byteLength > maxText;
  const text = (): string => new TextDecoder().decode(isLong ? bytes.slice(0, maxText) : bytes);
  drawContent(found, { bytes, isCut, none, text });
  if (isLong && ['json', 'csv', 'text'].includes(found.kind)) document.body.prepend(paragraphOf(cut));
}

function drawContent(
  found: Sniffed,
  { bytes, isCut, none, text }: Pick<Order, 'bytes' | 'isCut' | 'none'> & { readonly text: () => string },
): void {
  switch (found.kind) {
    case 'image':
    case 'audio':
    case 'video':
      return isCut ? say(none) : showMedia(found.kind, found.type, bytes, none);
    case 'json':
      return showText(pretty(text()));
    case 'csv':
      return showTable(text());
    case 'text':
      return showText(text());
    case 'pdf':
      return isCut ? say(none) : void showPdf(bytes, none);
    default:
      return say(none);
  }
}

/** Loads PDF.js, which is larger than the rest of the console, and shows a document. */
async function showPdf(bytes: ArrayBuffer, none: string): Promise<void> {
  try {
    await new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = 'pdf.js';
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
    await globalThis.showPdf!(bytes);
  } catch {
    say(none);
  }
}

function showMedia(kind: 'image' | 'audio' | 'video', type: string, bytes: ArrayBuffer, none: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  const element = document.createElement(kind === 'image' ? 'img' : kind);
  element.onerror = () => say(none);
  if (element instanceof HTMLMediaElement) element.controls = true;
  else element.alt = '';
  element.src = url;
  document.body.replaceChildren(element);
}

function showText(text: string): void {
  const block = document.createElement('pre');
  block.textContent = text;
  document.body.replaceChildren(block);
}

function showTable(text: string): void {
  const table = document.createElement('table');
  for (const [index, fields] of parseCsv(text, separatorOf(text), maxRows).entries()) {
    const row = table.insertRow();
    for (const field of fields.slice(0, maxFields)) {
      const cell = document.createElement(index === 0 ? 'th' : 'td');
      cell.textContent = field;
      row.append(cell);
    }
  }
  document.body.replaceChildren(table);
}

function say(text: string): void {
  document.body.replaceChildren(paragraphOf(text));
}

function paragraphOf(text: string): HTMLParagraphElement {
  const paragraph = document.createElement('p');
  paragraph.textContent = text;
  return paragraph;
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
