import { defineConfig } from 'vitest/config';
export default defineConfig({ test: { include: ['test/model/*.test.ts'], testTimeout: 600_000 } });
