/** The mark: a rack, seen from the front. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M7 9h18M7 16h18M7 23h18M9 7v18M23 7v18" />
    </svg>
  );
}
