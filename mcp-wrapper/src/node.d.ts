// The parts of Node that the wrapper uses: `typescript` is the only package that it is built with.
declare module "node:fs";
declare module "node:net";
declare module "node:os";
declare module "node:path";
declare const process: any, Buffer: any, TextDecoder: any;
declare function setTimeout(run: () => void, milliseconds: number): any;
declare function clearTimeout(timer: unknown): void;
