// Reads PDF documents in a worker of the frame that shows them.
import 'pdfjs-dist/legacy/build/pdf.worker.mjs';
