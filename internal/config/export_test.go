package config

// Trusted says what is wrong with a file that was not named.
var Trusted = trusted
