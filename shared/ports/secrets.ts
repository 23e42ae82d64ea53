/** Encrypts small secrets (access keys) at rest. Local: with a key file; in the cloud: with a KMS data key. */
export interface Secrets {
  /** Encrypts and authenticates. Opening requires the same `context`, which binds the secret to its place. */
  seal(plaintext: Uint8Array, context: string): Promise<Uint8Array>;
  /** Decrypts. @throws Error if it was not sealed with this key and context */
  open(sealed: Uint8Array, context: string): Promise<Uint8Array>;
}
