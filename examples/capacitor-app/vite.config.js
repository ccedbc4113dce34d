// Relative addresses, because an update is served from a folder whose name is not known here.
export default { base: './', build: { target: 'es2020' } };
