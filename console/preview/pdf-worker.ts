// Reads PDF documents beside the frame that shows them.
import 'pdfjs-dist/legacy/build/pdf.worker.mjs';
